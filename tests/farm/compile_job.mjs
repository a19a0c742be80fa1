// Compiles a job as Flamenco's Manager does, with the functions and objects that its manual documents:
//
//     node compile_job.mjs SCRIPT SETTINGS.json
//
// Prints the job type and the tasks as JSON; where the script throws, the reason.
import fs from "node:fs";
import { posix } from "node:path";
import vm from "node:vm";

const [script, settings] = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8"));
const tasks = [];
const job = {
    name: "job", created: new Date(0), settings: JSON.parse(settings),
    // The Manager adds a copy: what is added to the task later is lost.
    addTask: task => tasks.push({ ...task, commands: [...task.commands], dependencies: [...task.dependencies] }),
};
const author = {
    Task(name, type) {
        const task = { name, type, commands: [], dependencies: [] };
        return Object.assign(task, {
            addCommand: command => { task.commands.push(command); },
            addDependency: other => { task.dependencies.push(other.name); },
        });
    },
    Command: (name, parameters) => ({ name, parameters }),
};
const context = vm.createContext({
    author,
    path: { ...posix, stem: path => posix.parse(path).name },
    print() {},
    alert() {},
    // A list of Go: no Array in the sense of concat().
    shellSplit(text) {
        const words = (text.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) || []).map(word => word.replace(/^['"]|['"]$/g, ""));
        return { ...words, length: words.length };
    },
    formatTimestampLocal: () => "2006-01-02_150405",
    frameChunker: range => [range],
    frameCount: () => 1,
});
// An older Manager lacks some of them.
delete context[job.settings.without];
let error = null;
try {
    vm.runInContext(`"use strict";${script};compileJob`, context)(job);
} catch (thrown) {
    error = String(thrown);
}
console.log(JSON.stringify({ type: vm.runInContext("JOB_TYPE", context), tasks, error }));
