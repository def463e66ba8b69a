"""What is asked of the engine: commands, their undo, the journal; and the engine as this console hosts it."""
