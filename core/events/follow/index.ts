export { follow } from './follow.ts';
export { type Followed, type FollowedLine, type Follower, type Opened, openFollower } from './follower.ts';
export type { From, Place } from './start.ts';
