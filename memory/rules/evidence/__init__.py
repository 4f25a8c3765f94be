"""What people approved and refused, weighed together: how far the lessons in reach speak for each candidate."""
