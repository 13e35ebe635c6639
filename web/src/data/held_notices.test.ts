import { afterEach, expect, it, vi } from 'vitest';

import { HeldNotices } from './held_notices';
import type { Notice } from './source';

afterEach(() => void vi.restoreAllMocks());

const notice = (version: number, kind: Notice['kind'] = 'steps', run = 'a'): Notice => ({ run, version, kind });

it('keeps the newest news of steps until the tab is seen, and passes all others', () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  const passed: number[] = [];
  const held = new HeldNotices(({ version }) => passed.push(version));
  for (const each of [notice(1), notice(2), notice(3, 'rules'), notice(4, 'steps', 'b')]) held.take(each);
  expect(passed).toEqual([3]);
  document.dispatchEvent(new Event('visibilitychange')); // still hidden
  expect(passed).toEqual([3]);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(passed).toEqual([3, 2, 4]);
  held.take(notice(5));
  expect(passed).toEqual([3, 2, 4, 5]);
});
