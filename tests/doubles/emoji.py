"""The emoji that count as feedback where nothing else is set."""

from memory.model.teaching import EmojiMap

DEFAULT_EMOJI = EmojiMap(
    success=("👍", "+1", "thumbsup", "✅", "white_check_mark", "✔", "heavy_check_mark", "🎉", "tada", "💯", "100"),
    failure=("👎", "-1", "thumbsdown", "❌", "x"),
)
