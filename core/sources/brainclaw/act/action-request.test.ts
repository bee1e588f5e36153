import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../../model/index.ts';
import { PROJECT_ACTION_NAMES, type ProjectActionRequest } from '../action-schema.ts';
import { formatToolCall, PROJECT_ACTIONS, toProjectActionCall } from './index.ts';

const wish = (
  verb: ProjectActionRequest['do'],
  item: string,
  more: Partial<ProjectActionRequest> = {},
): ProjectActionRequest => ({
  do: verb,
  item,
  text: null,
  step: null,
  ...more,
});
const toCall = (verb: ProjectActionRequest['do'], item: string, more: Partial<ProjectActionRequest> = {}) =>
  toProjectActionCall(wish(verb, item, more), 'ada');

const transition = (entity: string, id: string, to: string) => ({
  tool: 'bclaw_transition',
  arguments: { entity, id, to },
});

describe('what is done to an item of a project', () => {
  test('a candidate is accepted or rejected, with a reason if there is one', () => {
    assert.deepEqual(toCall('accept', 'cnd_1'), {
      call: transition('candidate', 'cnd_1', 'accepted'),
      shell: ['brainclaw', 'accept', 'cnd_1', '--by', 'ada'],
    });
    const { call, shell } = toCall('reject', 'cnd_1', { text: 'too narrow' });
    assert.deepEqual(call.arguments, { entity: 'candidate', id: 'cnd_1', to: 'rejected', reason: 'too narrow' });
    assert.deepEqual(shell, ['brainclaw', 'reject', 'cnd_1', '--by', 'ada', '--reason', 'too narrow']);
  });

  test('what an action asks for is granted, rejected or withdrawn, by a person', () => {
    const outcomes = { resolve: 'resolved', reject: 'rejected', cancel: 'cancelled' } as const;
    for (const [verb, outcome] of Object.entries(outcomes) as [keyof typeof outcomes, string][]) {
      assert.deepEqual(toCall(verb, 'act_7', { text: 'the blue one' }), {
        call: {
          tool: 'bclaw_assignment_action',
          arguments: { action_id: 'act_7', outcome, text: 'the blue one', agent: 'ada' },
        },
        shell: null,
      });
    }
  });

  test("the claim of an agent is released as somebody else's", () => {
    assert.deepEqual(toCall('release', 'clm_3'), {
      call: { tool: 'bclaw_release_claim', arguments: { id: 'clm_3', coordinator_override: true } },
      shell: ['brainclaw', 'claim', 'release', 'clm_3'],
    });
  });

  test('a plan goes on, is finished, blocked or dropped', () => {
    const states = { start: 'in_progress', finish: 'done', block: 'blocked', drop: 'dropped' } as const;
    for (const [verb, to] of Object.entries(states) as [keyof typeof states, string][]) {
      const errand = toCall(verb, 'pln_0001');
      assert.deepEqual(errand.call, transition('plan', 'pln_0001', to));
      assert.deepEqual(errand.shell, ['brainclaw', 'plan', 'update', 'pln_0001', '--status', to]);
    }
  });

  test('a step of a plan is done, and a message to oneself is acknowledged', () => {
    assert.deepEqual(toCall('complete-step', 'pln_1', { step: 'stp_2' }).call, {
      tool: 'bclaw_complete_step',
      arguments: { planId: 'pln_1', stepId: 'stp_2', agent: 'ada' },
    });
    assert.deepEqual(toCall('ack', 'msg_4').call, {
      tool: 'bclaw_ack_message',
      arguments: { id: 'msg_4', agent: 'ada' },
    });
  });

  test('the type of an item is said by its id, or before it; short labels are ids too', () => {
    assert.deepEqual(toCall('accept', 'cnd#12').call, transition('candidate', 'cnd#12', 'accepted'));
    assert.deepEqual(toCall('accept', 'candidate:anything').call, transition('candidate', 'anything', 'accepted'));
    assert.equal(toCall('resolve', 'state:act_c0').call.arguments.action_id, 'act_c0');
    assert.equal(toCall('resolve', 'action:act_c0').call.arguments.action_id, 'act_c0');
  });

  test('a call is shown as tool and JSON', () => {
    assert.equal(
      formatToolCall(toCall('accept', 'cnd_1').call),
      'bclaw_transition {"entity":"candidate","id":"cnd_1","to":"accepted"}',
    );
  });

  test('what cannot be done is refused, with what can', () => {
    const refusals: readonly (readonly [ProjectActionRequest, RegExp])[] = [
      [wish('accept', 'clm_1'), /accept accepts a candidate, and clm_1 is a claim: use the id of a candidate/],
      [wish('reject', 'pln_1'), /use the id of a candidate or action/],
      [wish('accept', 'x1'), /the type of x1 is unknown: put it before the id, for example candidate:x1/],
      [wish('accept', 'trap:trp_1'), /unknown item type trap: use candidate, claim/],
      [wish('accept', '--help'), /"--help" is not the id of an item/],
      [wish('accept', 'cnd_1 cnd_2'), /is not the id of an item/],
      [wish('accept', ''), /is not the id of an item/],
      [wish('accept', `cnd_${'1'.repeat(300)}`), /is not the id of an item/],
      [wish('accept', 'constructor:x'), /unknown item type constructor/],
      [wish('release', 'clm_1', { text: 'why' }), /release does not accept a text/],
      [wish('accept', 'cnd_1', { text: 'x'.repeat(10_001) }), /10001 characters, over 10000/],
      [wish('accept', 'cnd_1', { step: 'stp_1' }), /accept does not accept a step/],
      [wish('complete-step', 'pln_1'), /complete-step needs the id of a step/],
      [wish('complete-step', 'pln_1', { step: '-x' }), /complete-step needs the id of a step/],
    ];
    for (const [asked, why] of refusals)
      assert.throws(
        () => toProjectActionCall(asked, 'ada'),
        (error) => error instanceof Fault && error.code === 'usage' && why.test(error.message),
        String(why),
      );
  });

  test('every deed says what it does, and to what', () => {
    for (const name of PROJECT_ACTION_NAMES) {
      assert.ok(PROJECT_ACTIONS[name].does.length > 0, name);
      assert.ok(Object.keys(PROJECT_ACTIONS[name].to).length > 0, name);
    }
  });
});
