"""What a reward model of conversations does in its own way."""

from tacit.offline.model import ModelKind
from tacit.offline.text.diagnose import diagnose_text
from tacit.offline.text.evaluate import evaluate_text
from tacit.offline.text.meanings import TextMeanings
from tacit.offline.text.train import train_text

TEXT = ModelKind("text", diagnose_text, evaluate_text, train_text, TextMeanings.from_tree)
