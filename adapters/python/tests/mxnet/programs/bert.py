"""The model of the notebook on BERT's attention: GluonNLP's, small."""

import mxnet as mx
import numpy as np
from gluonnlp.model.bert import BERTEncoder, BERTModel
from mxnet import autograd, gluon

mx.random.seed(1)
random = np.random.RandomState(1)
encoder = BERTEncoder(
    attention_cell="multi_head", num_layers=2, units=16, hidden_size=32, max_length=12, num_heads=4, dropout=0.0,
    output_attention=True, output_all_encodings=False,
)  # fmt: skip
bert = BERTModel(
    encoder, vocab_size=60, token_type_vocab_size=2, units=16, embed_size=16, embed_dropout=0.0, use_pooler=False,
    use_decoder=False, use_classifier=False,
)  # fmt: skip


class Span(gluon.Block):
    def __init__(self, bert, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.bert, self.span = bert, gluon.nn.Dense(2, flatten=False, in_units=16)

    def forward(self, words, types, lengths):
        return self.span(self.bert(words, types, lengths)[0])


net, criterion = Span(bert), gluon.loss.SoftmaxCELoss()
net.initialize(mx.init.Normal(0.2))
trainer = gluon.Trainer(net.collect_params(), "bertadam", {"learning_rate": 1e-2})
types, lengths = mx.nd.zeros((3, 8)), mx.nd.array([8, 5, 8])
for epoch in range(2):
    for step in range(3):
        words, starts = mx.nd.array(random.randint(0, 60, (3, 8))), mx.nd.array([1, 2, 3])
        with autograd.record():
            loss = criterion(net(words, types, lengths)[:, :, 0], starts)
        loss.backward()
        trainer.step(3)
    for step in range(2):
        print(net(mx.nd.array(random.randint(0, 60, (3, 8))), types, lengths).sum().asscalar())
