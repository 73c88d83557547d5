"""Figure 2b: booking by conversation, learned from what people say."""
