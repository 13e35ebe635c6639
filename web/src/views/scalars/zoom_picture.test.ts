import { describe, expect, it } from 'vitest';

import { finest, partOf, type Extent } from './zoom_picture';

const picture = (from: number, to: number): { extent: Extent } => ({ extent: { x: [from, to], y: [0, 1] } });

describe('ZoomPicture', () => {
  const whole = picture(0, 1000);
  const part = picture(400, 640);

  it('takes the picture that is stretched least', () => {
    expect(finest([whole, part], 0, 1000)).toBe(whole);
    expect(finest([whole, part], 420, 600)).toBe(part);
    expect(finest([part, whole], 300, 640)).toBe(whole);
  });

  it('has none of what no picture holds, or would show too coarsely', () => {
    expect(finest([], 0, 1)).toBeNull();
    expect(finest([whole], -50, 900)).toBeNull();
    expect(finest([whole], 500, 749)).toBeNull();
    expect(finest([whole], 500, 751)).toBe(whole);
  });

  it('forgives what rounding makes of the whole', () => {
    expect(finest([whole], -1e-9, 1000 + 1e-9)).toBe(whole);
  });

  it('cuts the part out that is shown', () => {
    expect(partOf([0, 1000], [250, 500], 800)).toEqual([200, 200]);
    expect(partOf([-10, 10], [-10, 10], 640)).toEqual([0, 640]);
  });
});
