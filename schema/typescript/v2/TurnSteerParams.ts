// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { UserInput } from "./UserInput";

/**
 * Parameters of `turn/steer`.
 */
export type TurnSteerParams = { threadId: string, 
/**
 * Must not be empty; it goes to the model with the turn's next request.
 */
input: Array<UserInput>, 
/**
 * The turn that the client believes to be running; if it is another, the request fails.
 */
expectedTurnId: string, };
