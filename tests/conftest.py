"""At the end of a report: what the campaigns of the attack tried, and what became of it."""


def pytest_terminal_summary(terminalreporter):
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    tallies = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "campaign"
    ]
    if tallies:
        terminalreporter.section("campaigns")
        for tally in sorted(set(tallies)):
            terminalreporter.write_line(tally)
