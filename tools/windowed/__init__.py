"""A real Blender with a window, and somebody at its mouse and keyboard: for tests in the window and for pictures.

`blender` is the side of the one who starts it, under any Python. `inside` is what Blender is started with; it runs
scripts, each a generator that says how many seconds to wait whenever it yields. `hands` are the mouse and the keyboard,
`pixels` the eyes.
"""
