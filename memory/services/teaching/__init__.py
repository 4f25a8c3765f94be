"""What people do to teach: reactions and grades, corrections, saved messages, lessons put in other words."""
