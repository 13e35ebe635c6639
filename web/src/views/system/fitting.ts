// Names in boxes that are too narrow for them.
import { shortened } from '../../data/text';

/** At most `most` characters: first the namespace makes way ("aten::"), then the end, in wide boxes the middle. */
export function fitting(name: string, most: number): string {
  if (name.length <= most) return name;
  const last = name.replace(/^.*::(?=.)/, '');
  if (last.length <= most) return last;
  if (most >= 16) return shortened(name, most);
  return most < 3 ? '' : `${last.slice(0, most - 1)}…`;
}
