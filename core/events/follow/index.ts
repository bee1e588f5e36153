export { follow } from './follow.ts';
export {
  type EventFollower,
  type FollowedLine,
  type FollowerOpening,
  type FollowResult,
  openFollower,
} from './follower.ts';
export type { EventLinePosition, FollowStartPoint } from './start.ts';
