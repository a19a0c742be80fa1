"""No muscles: swings behind its parent and back"""

import bpy

dynamics = bpy.context.scene.lookat_pd_dynamics

dynamics.between = "MASS"
dynamics.tension = 4.0
dynamics.limit = "NONE"
dynamics.friction = 0.0
dynamics.use_gravity = False
dynamics.inertia = "TRUE"
dynamics.weight = 0.25
dynamics.passive = True
dynamics.stiffness = 1.5
dynamics.damping = 0.3
dynamics.settle = 1.0
