"""Loose and weightless, pulled from key to key"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "MASS"
dynamics.tension = 4.7
dynamics.at_keys = "PASS"
dynamics.swing_past = 0.15
dynamics.limit = "NONE"
dynamics.friction = 0.0
dynamics.use_gravity = False
dynamics.inertia = "REFERENCE"
dynamics.passive = False
dynamics.settle = 0.3
dynamics.joint_damping = 0.0
dynamics.method = "OPTIMAL"
