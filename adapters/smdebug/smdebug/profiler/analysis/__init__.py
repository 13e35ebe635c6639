"""What can be asked of a profile: frames, statistics, merged timelines, pictures."""
