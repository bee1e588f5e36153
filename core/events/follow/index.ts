export type { EventLinePosition, FollowStartPoint } from './event-files.ts';
export {
  type EventFollower,
  type FollowedLine,
  type FollowerOpening,
  type FollowResult,
  follow,
  openFollower,
} from './follower.ts';
