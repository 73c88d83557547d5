"""The stages that Tacit is measured against: feedback believed, the last step alone, chance. Imports `learning`."""
