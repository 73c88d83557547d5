"""What studies on layered environments share: the sweep, playing a learner, summary and page. Imports no study."""
