"""GluonNLP's BERT, small, trained and looked at as the notebook on BERT's attention does. Its hook is the one that a
file of SageMaker's describes. Behind each epoch it waits for a line."""

import sys

import mxnet as mx
import numpy as np
import smdebug.mxnet as smd
from gluonnlp.model.bert import BERTEncoder, BERTModel
from mxnet import autograd, gluon
from smdebug import modes

ITEMS, TOKENS, UNITS, HEADS, WORDS = 3, 8, 16, 4, 40
random = np.random.RandomState(0)
mx.random.seed(0)
encoder = BERTEncoder(
    attention_cell="multi_head", num_layers=2, units=UNITS, hidden_size=32, max_length=12, num_heads=HEADS, dropout=0.0,
    output_attention=True, output_all_encodings=False,
)  # fmt: skip
bert = BERTModel(
    encoder, vocab_size=WORDS, token_type_vocab_size=2, units=UNITS, embed_size=UNITS, embed_dropout=0.0,
    use_pooler=False, use_decoder=False, use_classifier=False,
)  # fmt: skip


class Span(gluon.Block):
    def __init__(self, bert, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.bert, self.span = bert, gluon.nn.Dense(2, flatten=False, in_units=UNITS)

    def forward(self, words, types, lengths):
        return self.span(self.bert(words, types, lengths)[0])


net, criterion = Span(bert), gluon.loss.SoftmaxCELoss()
net.initialize(mx.init.Normal(0.2))
hook = smd.Hook.create_from_json_file()
hook.register_block(net)
trainer = gluon.Trainer(net.collect_params(), "bertadam", {"learning_rate": 1e-2})
types, lengths = mx.nd.zeros((ITEMS, TOKENS)), mx.nd.array([TOKENS] * ITEMS)
held_out = random.randint(0, WORDS, (ITEMS, TOKENS))
for epoch in range(4):
    hook.set_mode(modes.EVAL)
    net(mx.nd.array(held_out), types, lengths)
    if hook.get_collections()["all"].save_config.should_save_step(modes.EVAL, hook.mode_steps[modes.EVAL]):
        hook._write_raw_tensor_simple("input_tokens", [[f"word{word}" for word in text] for text in held_out])
    hook.set_mode(modes.TRAIN)
    for _ in range(3):
        words, starts = random.randint(0, WORDS, (ITEMS, TOKENS)), random.randint(0, TOKENS, ITEMS)
        with autograd.record():
            loss = criterion(net(mx.nd.array(words), types, lengths)[:, :, 0], mx.nd.array(starts))
        loss.backward()
        trainer.step(ITEMS)
    sys.stdin.readline()
hook.close()
