"""What studies on layered environments share: the sweep, playing a learner, summary, picture and page. Imports no study."""
