"""The use cases of teaching: reactions, grades, corrections, saved messages, restated lessons."""
