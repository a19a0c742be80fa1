// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3.6 or later: a task for each shard of the files in a folder, and one that merges their
// reports. Copy this file into the folder `scripts` beside the Flamenco Manager. See docs/farm.md.

const JOB_TYPE = {
    label: "Look-at PD",
    description: "Look-ats, transitions, inverse kinematics and dynamics for the files in a folder",
    settings: [
        { key: "input_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder with the files to process: .blend .glb .gltf .vrm .fbx .bvh" },
        { key: "output_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the outputs and the report" },
        { key: "verb", type: "string", required: true, default: "bake", visible: "submission",
          choices: ["bake", "follow", "hit", "ik", "inertialize", "interpolate", "reach", "springs"],
          description: "What to do with the files" },
        { key: "options", type: "string", required: false, default: "", visible: "submission",
          description: "Options of the verb as in a shell, such as: --point 0,-3,1.6 --settle-time 0.4" },
        { key: "shards", type: "int32", required: false, default: 20, propargs: {min: 1, max: 10000},
          visible: "submission", description: "Number of tasks among which the files are distributed" },
        { key: "processes", type: "int32", required: false, default: 1, propargs: {min: 1, max: 256},
          visible: "submission",
          description: "Number of processes of a task, each with a Blender of its own and some hundred MB of memory" },
        { key: "tolerate_failures", type: "string", required: false, default: "0", visible: "submission",
          description: "Number of files, or share such as 5%, that may fail before the job has failed" },
    ],
};

function compileJob(job) {
    if (typeof shellSplit === "undefined") {
        throw "Look-at PD needs Flamenco 3.6 or later; update the Manager.";
    }
    const settings = job.settings;
    const inputs = folder(settings.input_folder, "Input Folder");
    const outputs = folder(settings.output_folder, "Output Folder");
    const shards = count(settings.shards, 20, "Shards");
    const processes = count(settings.processes, 1, "Processes");
    const verb = settings.verb || "bake";
    const options = plainArray(shellSplit(settings.options || ""));
    const reports = path.join(outputs, "reports", `of-${shards}`);

    const merge = task("merge-reports", [
        "report", "merge", reports,
        "--output", path.join(outputs, "report.json"),
        "--tolerate-failures", tolerated(settings.tolerate_failures),
    ]);
    for (let shard = 1; shard <= shards; shard++) {
        const part = task(`${verb}-${shard}-of-${shards}`, [
            verb, inputs,
            "--output", outputs,
            "--shard", `${shard}/${shards}`,
            "--jobs", `${processes}`,
            "--report", path.join(reports, `${shard}.json`),
            "--skip-done",
            "--retry", "1",
            // A file that fails is no task that fails: the Manager counts those, and ends the job. The merge decides.
            "--tolerate-failures", "100%",
            "--progress", "auto",
        ].concat(options));
        job.addTask(part);
        merge.addDependency(part);
    }
    // A task is copied as it is added: what it depends on must be known before.
    job.addTask(merge);
}

// A task that calls the command line. Each path is an argument of its own, so that two-way variables replace it.
function task(name, words) {
    const made = author.Task(name, "blender");
    made.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: "",
        args: ["--command", "lookat_pd"].concat(words),
    }));
    return made;
}

// What the Manager's own functions return has an index and a length; not all methods of arrays take it for one.
function plainArray(found) {
    const words = [];
    for (let i = 0; i < found.length; i++) {
        words.push(found[i]);
    }
    return words;
}

function folder(value, label) {
    if (!value) {
        throw `${label} is empty; choose a folder.`;
    }
    return value;
}

function tolerated(value) {
    const given = value || "0";
    if (!/^[0-9]+([.][0-9]+)?%?$/.test(given)) {
        throw `Tolerate Failures is ${given}; give a number of files, or a share such as 5%.`;
    }
    return given;
}

// Settings of jobs that scripts submit may be missing.
function count(value, usual, label) {
    if (value === undefined) {
        return usual;
    }
    if (!(value >= 1)) {
        throw `${label} is ${value}; give a number of 1 or more.`;
    }
    return value;
}
