"""The published method: stable PD on quaternion components once per frame, weight shift, arm recoil and planted feet"""

import bpy

look_at = bpy.context.active_pose_bone.lookat_pd

look_at.settle_time = 0.6
look_at.damping = "RESPONSIVE"
look_at.damping_ratio = 0.7071068
look_at.max_speed = 0.0
look_at.head_speed = 0.0
look_at.feed_forward = 0.0
look_at.stabilize = 0.0
look_at.head_roll = 3.1415927
look_at.method = "COMPONENT"
look_at.integrator = "STABLE"
look_at.soft_edge = 0.08726646
look_at.release_angle = 0.008726646
look_at.release_speed = 0.03490659
look_at.release_time = 0.2
look_at.body.use_weight_shift = True
look_at.body.use_arm_recoil = True
look_at.body.use_planted_feet = True
look_at.body.weight_shift = 1.0
look_at.body.weight_side = 5.0
look_at.body.weight_back = 1.5
look_at.body.weight_settle_factor = 2.0
look_at.body.arm_recoil = 1.0
look_at.body.arm_settle_factor = 2.0
look_at.body.arm_damping_ratio = 0.4
look_at.body.torso_from = 0.0
look_at.eyes.use = False
look_at.eyes.drift = 0.0
