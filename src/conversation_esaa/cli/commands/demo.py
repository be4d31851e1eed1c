"""`demo`: the main job on a made-up conversation."""
