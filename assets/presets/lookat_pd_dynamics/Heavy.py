"""Barely enough strength for the weight: starts late, arrives late and overshoots the keys"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "MASS"
dynamics.tension = 5.0
dynamics.at_keys = "PASS"
dynamics.swing_past = 0.1
dynamics.limit = "STRENGTH"
dynamics.strength = 2.0
dynamics.friction = 0.0
dynamics.use_gravity = True
dynamics.inertia = "TRUE"
dynamics.weight = 0.25
dynamics.passive = False
dynamics.settle = 0.5
dynamics.joint_damping = 0.0
dynamics.method = "OPTIMAL"
