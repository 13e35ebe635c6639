"""LSTMs over packed sequences of different lengths, with CTC loss."""
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
import seen

torch.manual_seed(0)
lstm, head = torch.nn.LSTM(5, 8, bidirectional=True), torch.nn.Linear(16, 6)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], 0.01)
for step in range(12):
    lengths = torch.tensor([9, 7, 4])
    packed = pack_padded_sequence(torch.randn(9, 3, 5), lengths)
    output, _ = pad_packed_sequence(lstm(packed)[0])
    logits = head(output).log_softmax(2)
    targets = torch.randint(1, 6, (3, 3))
    optimizer.zero_grad()
    torch.nn.functional.ctc_loss(logits, targets, lengths, torch.tensor([3, 2, 1])).backward()
    optimizer.step()
print(seen.digest(lstm, head))
