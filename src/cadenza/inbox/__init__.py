"""What comes back: replies, bounces, complaints and automatic answers, matched to what was sent."""
