// Time: where the time of a run goes, and what its machines did.
import './time.css';

import type { MountView } from '../view';
import { TimeView } from './time_view';

export const mount: MountView = (element, context, state) => new TimeView(element, context, state);
