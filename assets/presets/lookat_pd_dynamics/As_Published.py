"""The published method: all joints arrive at each key at the same time and stop there"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "TENSION"
dynamics.tension = 9.233
dynamics.at_keys = "STOP"
dynamics.swing_past = 0.0
dynamics.limit = "NONE"
dynamics.friction = 0.0
dynamics.use_gravity = True
dynamics.inertia = "TRUE"
dynamics.weight = 0.0
dynamics.passive = False
dynamics.settle = 0.0
