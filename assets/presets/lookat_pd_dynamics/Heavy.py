"""Much weight: joints follow late one after the other, hit their keys and swing past the last one"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "MASS"
dynamics.tension = 2.2
dynamics.at_keys = "PASS"
dynamics.swing_past = 0.1
dynamics.limit = "NONE"
dynamics.friction = 0.0
dynamics.use_gravity = True
dynamics.inertia = "TRUE"
dynamics.weight = 0.5
dynamics.passive = False
dynamics.settle = 0.5
dynamics.joint_damping = 0.0
dynamics.method = "OPTIMAL"
