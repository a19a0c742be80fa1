"""The demo: a Rigify human with a mannequin body, its performance, and things to look at."""
