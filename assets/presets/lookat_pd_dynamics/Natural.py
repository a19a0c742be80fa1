"""Passes keys at speed; loads, such as 5 kg in a hand, show"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "TENSION"
dynamics.tension = 4.0
dynamics.at_keys = "PASS"
dynamics.swing_past = 0.0
dynamics.limit = "NONE"
dynamics.friction = 0.0
dynamics.use_gravity = True
dynamics.inertia = "TRUE"
dynamics.weight = 0.25
dynamics.passive = False
dynamics.settle = 0.0
dynamics.joint_damping = 0.3
dynamics.method = "OPTIMAL"
