"""Slow to start and slow to stop, for a large head"""

import bpy

look_at = bpy.context.active_pose_bone.lookat_pd

look_at.settle_time = 1.8
look_at.damping = "CUSTOM"
look_at.damping_ratio = 1.2
look_at.max_speed = 0.0
look_at.head_speed = 5.235987755982989
look_at.feed_forward = 0.0
look_at.stabilize = 0.95
look_at.head_roll = 0.2617994
look_at.method = "GEODESIC"
look_at.integrator = "EXACT"
look_at.soft_edge = 0.08726646
look_at.release_angle = 0.008726646
look_at.release_speed = 0.03490659
look_at.release_time = 0.2
