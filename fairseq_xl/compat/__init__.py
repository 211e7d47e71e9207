"""What is changed in fairseq 0.12.3: mends for current Python, torch and numpy, clear errors, and refusals.

There is one function for each change, whose docstring says what was broken. A training that nothing interrupts stays as
fairseq has it. What a model of fairseq's own learns or finds differs in these cases alone:

- A resumed training ends as an uninterrupted one does (``keep_batches``, ``keep_patience``, ``keep_plateau``).
- ``fairseq-generate``, ``-validate`` and ``-eval-lm`` use up to 7 sentences more (``evaluate_every_sentence``).
- ``--diverse-beam-groups`` counts each sentence's own overlaps (``count_diversity_by_place``).
"""

from __future__ import annotations

from fairseq_xl.compat.checkpoints import (
    explain_unusable_checkpoints,
    refuse_misspelt_overrides,
    show_what_models_say_of_checkpoints,
    write_checkpoints_atomically,
)
from fairseq_xl.compat.damaged_data import explain_damaged_data
from fairseq_xl.compat.datasets import load_masked_dictionaries, supply_bucket_bounds, supply_numpy_compat
from fairseq_xl.compat.dictionaries import refuse_other_dictionaries
from fairseq_xl.compat.generation import count_diversity_by_place, evaluate_every_sentence, force_words_without_score
from fairseq_xl.compat.mistakes import explain, name_what_validation_measures, refuse_another_scheduler
from fairseq_xl.compat.moving_average import average_weights_alone
from fairseq_xl.compat.nonfinite import name_the_batch_of_bad_gradients
from fairseq_xl.compat.pickling import (
    let_configurations_be_copied,
    let_tasks_be_copied,
    let_translating_models_be_copied,
)
from fairseq_xl.compat.processes import (
    receive_what_was_broadcast,
    refuse_a_second_training,
    refuse_miscounted_slurm_tasks,
    refuse_unconnected_copies,
    take_slurms_numbers_on_a_cpu,
    take_torchruns_numbers_on_a_cpu,
)
from fairseq_xl.compat.replace_unk import mend_unknown_word_replacement
from fairseq_xl.compat.resuming import (
    fall_back_from_torn_checkpoints,
    keep_batches,
    keep_patience,
    keep_plateau,
    refuse_to_restore_nothing,
)
from fairseq_xl.compat.stand_ins import stand_in_for_compiled_modules
from fairseq_xl.compat.stand_ins.token_bleu import supply_token_bleu
from fairseq_xl.io.errors import show_input_errors_without_traceback
from fairseq_xl.training.checkpoints import trust_plain_types


def apply() -> None:
    """Mend what is broken on this stack; may be called any number of times."""
    show_input_errors_without_traceback(explain)
    # Python, torch and numpy have moved on
    trust_plain_types()
    receive_what_was_broadcast()
    supply_numpy_compat()
    supply_bucket_bounds()
    # there may be no compiler
    stand_in_for_compiled_modules()
    supply_token_bleu()
    # machines and users fail
    write_checkpoints_atomically()
    refuse_a_second_training()
    refuse_unconnected_copies()
    refuse_miscounted_slurm_tasks()
    refuse_another_scheduler()
    name_what_validation_measures()
    refuse_to_restore_nothing()
    fall_back_from_torn_checkpoints()
    keep_batches()
    keep_patience()
    keep_plateau()
    refuse_other_dictionaries()
    refuse_misspelt_overrides()  # before the next, which wraps it and lets its error pass
    explain_unusable_checkpoints()
    show_what_models_say_of_checkpoints()
    explain_damaged_data()
    name_the_batch_of_bad_gradients()
    # what fairseq itself gets wrong
    mend_unknown_word_replacement()
    load_masked_dictionaries()
    let_tasks_be_copied()
    let_configurations_be_copied()
    let_translating_models_be_copied()
    take_torchruns_numbers_on_a_cpu()
    take_slurms_numbers_on_a_cpu()
    average_weights_alone()
    count_diversity_by_place()
    force_words_without_score()
    evaluate_every_sentence()
