import { expect, it } from 'vitest';

import { compareTexts, shortened, shown } from './text';

it('shows tricky characters as their codes', () => {
  expect(shown('layer.0\u202egnp.exe')).toBe('layer.0\\u{202e}gnp.exe');
  expect(shown('a\u001b[31mred\u0000')).toBe('a\\u{1b}[31mred\\u{0}');
  expect(shown('\ud800x')).toBe('\\u{d800}x');
  expect(shown('one\ntwo\tthree')).toBe('one⏎two⇥three');
});

it('leaves the scripts of the world alone', () => {
  for (const text of ['naïve', '日本語', 'نص', '👩‍👧', '##ing', '<script>']) expect(shown(text)).toBe(text);
});

it('cuts the middle out', () => {
  expect(shortened('encoder.layer.11.attention.self', 11)).toBe('encod….self');
  expect(shortened('short', 11)).toBe('short');
});

it('sorts numbers within texts by their size', () => {
  expect(['layer.10', 'layer.2', 'Layer.1'].sort(compareTexts)).toEqual(['Layer.1', 'layer.2', 'layer.10']);
});
