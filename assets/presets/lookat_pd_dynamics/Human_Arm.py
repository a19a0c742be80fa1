"""Limited strength of a human arm, with gravity"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "MASS"
dynamics.tension = 7.5
dynamics.at_keys = "PASS"
dynamics.swing_past = 0.0
dynamics.limit = "STRENGTH"
dynamics.strength = 8.0
dynamics.friction = 0.0
dynamics.use_gravity = True
dynamics.inertia = "TRUE"
dynamics.weight = 0.25
dynamics.passive = False
dynamics.settle = 0.0
dynamics.joint_damping = 0.3
dynamics.method = "OPTIMAL"
