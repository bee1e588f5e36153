export { displayJson, displayLine, displayName, displayText, stripUnseen } from './display-name.ts';
export { computeMsUntilDurationChanges, formatDuration } from './duration.ts';
