// System: where the time of a run goes, and what its machines did.
import './system.css';

import type { MountView } from '../view';
import { SystemView } from './system_view';

export const mount: MountView = (element, context, state) => new SystemView(element, context, state);
