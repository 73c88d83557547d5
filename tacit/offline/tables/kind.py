"""What a reward model of labels and vectors does in its own way."""

from tacit.offline.model import ModelKind
from tacit.offline.tables.diagnose import diagnose_table
from tacit.offline.tables.evaluate import evaluate_table
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.tables.train import train_table

TABLE = ModelKind("table", diagnose_table, evaluate_table, train_table, TableMeanings.from_tree)
