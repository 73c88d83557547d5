"""What studies on layered environments share: sweep, playing a learner, summary, picture and page. Imports no study."""
