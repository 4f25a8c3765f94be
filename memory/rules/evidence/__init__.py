"""The evidence rule: weighs what people approved and refused into beliefs in candidates (actions and answers)."""
