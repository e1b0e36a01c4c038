/**
 * Session state awareness for agent gateways: one notice when a session you depend on was changed by
 * someone else, and exactly what changed.
 */
export type * from './api.js';
export { HeadsupError } from './errors.js';
export { Headsup, type HeadsupEvents } from './headsup.js';
export { LineServer } from './lines.js';
export type { OpenOptions } from './options.js';
