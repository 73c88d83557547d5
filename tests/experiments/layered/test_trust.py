"""The page and the command line say whether a result can be trusted."""

import pytest
from study_samples import QUIET, resweep, stay_here

from tacit.envs.synthetic import synthetic, synthetic_mdp
from tacit.envs.unhealthy import shuffled
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.publish import publish
from tacit.experiments.run import perform
from tacit.experiments.study import Request


@pytest.mark.compiled
@pytest.mark.parametrize("seen", ["not known yet", "works with caution"])
def test_the_report_and_the_command_line_say_whether_to_trust_it(seen, tmp_path, monkeypatch):
    stay_here(monkeypatch)
    study = resweep(
        STUDIES["synthetic"],
        environments={
            "synthetic": synthetic if seen == "works with caution" else lambda: shuffled(synthetic_mdp())
        },
        learners=("tacit_fast", "uniform"),
        episodes=4000 if seen == "works with caution" else 1500,
    )
    runs = perform(Request(study, tmp_path, seeds=1), QUIET)
    publish(runs)
    page = (tmp_path / "synthetic" / "report.html").read_text()
    told = page[page.index("Can this be trusted?") :]
    assert f"<h3>{seen}</h3>" in told
    assert "minority-assumed" in told
    said = [line.split(": ")[2].split(" (")[0] for line in runs.study.remarks(runs)]
    unknown = ["nothing-known-yet", "too-few-tuples"] if seen == "not known yet" else []
    assert said == [*unknown, "minority-assumed"]
