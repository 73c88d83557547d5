"""Can logs of conversations be decoded? What their model shows, its control, and what known outcomes say of it."""

from __future__ import annotations

from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.offline.diagnosis import LogDiagnosis
from tacit.offline.text.examination import TextExamination, examine_text
from tacit.offline.text.gathering import gather_text
from tacit.offline.text.meanings import TextMeanings
from tacit.trust.certificate import Certificate

TextDiagnosis = LogDiagnosis[TextExamination]


def diagnose_text(
    meanings: TextMeanings,
    certificate: Certificate,
    source: LogSource,
    problems: Problems | None = None,
    progress: Progress | None = None,
    assume_uniform: bool = False,
) -> TextDiagnosis:
    """Return the diagnosis of logs by a model; rewards in them check which way round."""
    silence = meanings.silence
    teaching = gather_text(source, meanings.horizon, assume_uniform, problems, progress, silence=silence)
    examination = examine_text(meanings, certificate, source, teaching, problems)
    return LogDiagnosis(examination, str(source), problems, _render)


def _render(examination: TextExamination, title: str, problems: Problems | None) -> str:
    # Imported late, the only such import here: pictures need matplotlib, which takes half a second to load.
    from tacit.offline.text.page import render_text

    return render_text(examination, title, problems)
