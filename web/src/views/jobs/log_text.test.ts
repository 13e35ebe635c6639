import { expect, it } from 'vitest';

import { lineText, LogText } from './log_text';

it('shows a progress bar as it was at the end, and no colours', () => {
  expect(lineText('10%\r50%\r100%\r')).toBe('100%');
  expect(lineText('\u001b[1;31mloss\u001b[0m\t0.5')).toBe('loss\t0.5');
  expect(lineText('\u001b]0;title\u0007x\u001b]8;;http://a\u001b\\y')).toBe('xy');
});

it('shows what would hide or turn text as its code', () => {
  expect(lineText('a\u202eb\u0000')).toBe('a\\u{202e}b\\u{0}');
  expect(lineText('\u001b')).toBe('\\u{1b}');
});

it('gives each line once, and the one without an end apart', () => {
  const log = new LogText();
  expect(log.push('one\ntw')).toBe('one\n');
  expect(log.unfinished).toBe('tw');
  expect(log.push('o')).toBe('');
  expect(log.push('\n\nthree\r')).toBe('two\n\n');
  expect(log.unfinished).toBe('three');
});
