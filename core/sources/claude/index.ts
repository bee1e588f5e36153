export { type AnnouncedSession, createSessionBell, type SessionBell } from './session-bell.ts';
