/**
 * The contract's types under short names, as jco generates them from the component. The path leads
 * from here and from the compiled file beside `component/` to the same place.
 */
import type * as Component from '../dist/component/component.js';
import type * as Log from '../dist/component/interfaces/headsup-awareness-log.js';
import type * as Maintenance from '../dist/component/interfaces/headsup-awareness-maintenance.js';
import type * as Notices from '../dist/component/interfaces/headsup-awareness-notices.js';
import type * as Queue from '../dist/component/interfaces/headsup-awareness-queue.js';
import type * as Settings from '../dist/component/interfaces/headsup-awareness-settings.js';
import type * as Sources from '../dist/component/interfaces/headsup-awareness-sources.js';
import type * as Storage from '../dist/component/interfaces/headsup-awareness-storage.js';
import type * as Types from '../dist/component/interfaces/headsup-awareness-types.js';
import type * as Upstreams from '../dist/component/interfaces/headsup-awareness-upstreams.js';
import type * as Wire from '../dist/component/interfaces/headsup-awareness-wire.js';

/** The exports of a core. */
export type Exports = Component.Root;
/** What a core imports, by interface. */
export type Imports = Component.ImportObject;
/** The verbs of storage. */
export type StorageVerbs = typeof Storage;
/** The verbs of the settings. */
export type SettingsVerbs = typeof Settings;

export type Level = Log.Level;
export type Policy = Maintenance.Policy;
export type Urgency = Maintenance.Urgency;
export type PendingNotice = Notices.PendingNotice;
export type Opening = Queue.Opening;
export type Setting = Settings.Setting;

export type FileFound = Sources.FileFound;
export type FileRead = Sources.FileRead;
export type Found = Sources.Found;
export type Tally = Sources.Tally;

export type AppendOutcome = Storage.AppendOutcome;
export type AppendRequest = Storage.AppendRequest;
export type Changes = Storage.Changes;
export type ClaimRequest = Storage.ClaimRequest;
export type Cursor = Storage.Cursor;
export type CursorQuery = Storage.CursorQuery;
export type Entry = Storage.Entry;
export type Head = Storage.Head;
export type HeadChange = Storage.HeadChange;
export type Link = Storage.Link;
export type LogPage = Storage.LogPage;
export type Pair = Storage.Pair;
export type PairState = Storage.PairState;
export type Positions = Storage.Positions;
export type PruneRequest = Storage.PruneRequest;
export type Row = Storage.Row;
export type Upstream = Storage.Upstream;
export type Watched = Storage.Watched;

export type CoreError = Types.Error;
export type PendingCount = Types.PendingCount;
export type Pruning = Types.Pruning;
export type Removal = Types.Removal;
export type Session = Types.Session;
export type StorageFailure = Types.StorageFailure;
export type StorageFault = Types.StorageFault;

export type Check = Upstreams.Check;
export type Plan = Upstreams.Plan;
export type Selection = Upstreams.Selection;

export type Access = Wire.Access;
export type Errand = Wire.Errand;
export type ErrandDone = Wire.ErrandDone;
export type Failure = Wire.Failure;
