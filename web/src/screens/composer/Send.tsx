// The one button that says what it will do, and the other ways beside it.
import { Alert, Button, Group, List, Menu, Paper, Select, Stack, Text } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import type { Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { fromNow, onClock } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { isWhole } from "../../ui/wallTimes";
import { blockerWords, channelName } from "../../ui/words";
import { contentOf, empty, isEmpty, type Content, type Post } from "./content";
import { actOf, approve, carryOut, isSending, type Done, type Way, type Submission } from "./carryOut";
import { useDryRun, type Preview, type Went } from "./foresee";
import { labelOf, placeTime } from "./labels";
import { t } from "../../messages/composer";

interface Props {
  accounts: Account[];
  content: Content;
  changed: boolean;
  reworded: boolean;
  previews: Preview[];
  saved: { post: Post; revision: number } | null;
  onSaved: (content: Content, revision: number | null) => void;
  onConflict: (theirs: Post) => void;
  /** What each account would answer, to be shown beside it. */
  onForeseen: (places: readonly Went[]) => void;
}

export function Send(props: Props) {
  const { content, saved, changed, reworded } = props;
  const workspaceId = useWorkspaceId();
  const go = useNavigate();
  const me = useMe();
  const now = useNow();
  const [search] = useSearchParams();
  const asked = search.get("at");
  const zones = zonesOf(props.accounts, content, me.zone);
  const [way, setWay] = useState<Way>(() => firstWay(saved?.post ?? null, asked));
  const [wall, setWall] = useState("");
  const [zone, setZone] = useState<string | null>(null);
  const inZone = zone ?? zones[0] ?? me.zone;
  const submission: Submission = { way, content, reworded, saved, at: asked, wall: isWhole(wall) ? wall : null, zone: inZone };
  const nowhere = content.places.length === 0 && isSending(way);
  const idle = isEmpty(content) || nowhere || (way === "time" && !isWhole(wall)) || (way === "save" && !reworded);
  // What a network refuses is known a moment before the dry run says so; what is tried again is judged by that alone.
  const blocks = isEmpty(content) || way === "again" ? [] : props.previews.flatMap((each) => each.problems.filter(({ blocking }) => blocking).map(({ message }) => ({ preview: each, message })));
  const { foreseen, error } = useDryRun(idle ? null : actOf(submission));
  const { onForeseen } = props;
  const places = foreseen?.composed.places;
  useEffect(() => onForeseen(places ?? []), [places, onForeseen]);
  const run = useAct("post", () => carryOut(workspaceId, submission), {
    done: ({ message }) => message,
    after: ({ post }: Done) => {
      if (saved !== null) {
        props.onSaved(contentOf(post), post.revision);
        setWay(firstWay(post, null));
      }
      else {
        props.onSaved({ ...empty, places: content.places }, null);
        if (way === "draft") return go(`/w/${workspaceId}/compose/${post.id}`);
      }
    },
    refused: (refusal) => {
      if (refusal instanceof Problem && refusal.code === "changed_meanwhile" && refusal.body.current !== undefined) {
        props.onConflict(refusal.body.current as Post);
        return true;
      }
    },
  });
  const approveIt = useAct("post", () => approve(workspaceId, saved?.post.id ?? "", saved?.revision ?? 0), {
    done: ({ scheduled }) => (scheduled.length === 0 ? t("approvedToast") : t("approvedItGoesOutAsPlanned")),
  });
  const press = async () => {
    if (way === "now") {
      const where = props.previews.map((each) => `${channelName(each.channel)} (${each.handle})`).join(", ");
      const what = foreseen?.approving === true ? t("approveAndPublishNow") : t("publishNow");
      if (!(await askFirst({ title: `${what}?`, message: t("itsPublishedRightAwayWhere", { where }), yes: what }))) return;
    }
    run.mutate();
  };
  const stale = error instanceof Problem && error.code === "changed_meanwhile";
  const unfit = error instanceof Problem && error.code === "does_not_fit";
  const refused = error !== null && !stale && !idle && !(unfit && blocks.length > 0);
  const blocked = blocks.length > 0 && isSending(way);
  const noneTakes = places !== undefined && places.length > 0 && places.every((each) => each.outcome === "refused");
  const label = labelOf({ way, places, approving: foreseen?.approving ?? false, zone: inZone, post: saved?.post ?? null, blocked: blocks.length > 0, reworded });
  return (
    <Paper withBorder p="md" component="section" aria-label={t("whenToSend")} className="stays-below">
      <Stack gap="xs">
        {way === "time" && (
          <Group align="flex-start" gap="xs">
            <WallTimeInput label={t("when")} zone={inZone} from={now} today value={wall} onChange={setWall} />
            <Select label={t("timeZone")} allowDeselect={false} data={zones} value={inZone} onChange={setZone} />
          </Group>
        )}
        {places !== undefined && way !== "now" && way !== "again" && blocks.length === 0 && <Foreseen places={places} accounts={props.accounts} now={now} />}
        {foreseen !== undefined && <Waits post={foreseen.composed.post} way={way} />}
        {blocks.length > 0 && <Blocked blocks={blocks} sending={isSending(way)} />}
        {refused && (
          <Alert color="red" p="xs" role="status" title={t("cantDoThisYet")}>
            {error instanceof Problem && error.faults.length > 0 ? error.faults.map((each) => each.message).join(" ") : error.message}
          </Alert>
        )}
        {stale && (
          <Alert color="yellow" p="xs" role="status">
            {t("someoneElseChangedThisPostYoull")}
          </Alert>
        )}
        <Group gap="xs" justify="space-between">
          <Text size="sm" c="dimmed">
            {way === "save" && changed && !reworded ? t("savedAsADraftItGoes") : changed ? t("notSavedYetYourTextIs") : saved === null ? "" : t("saved")}
          </Text>
          <Group gap="xs">
            {saved !== null && !saved.post.approved && !reworded && (
              <Button variant="default" loading={approveIt.isPending} onClick={() => approveIt.mutate()}>
                {t("approve")}
              </Button>
            )}
            <Button.Group maw="100%">
              <Button
                h="auto"
                mih={36}
                py={6}
                styles={{ root: { minWidth: 0 }, label: { whiteSpace: "normal" } }}
                disabled={idle || refused || noneTakes || blocked}
                loading={run.isPending}
                onClick={() => void press()}
              >
                {label}
              </Button>
              <OtherWays way={way} saved={saved !== null} slot={asked !== null} again={saved !== null && hasFailed(saved.post)} onChoose={setWay} />
            </Button.Group>
          </Group>
        </Group>
      </Stack>
    </Paper>
  );
}

/** Account by account: why its network would refuse it, and what to do. */
function Blocked({ blocks, sending }: { blocks: { preview: Preview; message: string }[]; sending: boolean }) {
  return (
    <Alert color={sending ? "red" : "yellow"} p="xs" role="status" title={sending ? t("thisCantBeSentYet") : t("youCanSaveThisButNot")}>
      <List size="sm">
        {blocks.map(({ preview, message }) => (
          <List.Item key={`${preview.account_id} ${preview.channel} ${message}`}>
            {preview.handle} ({channelName(preview.channel)}): {message}
          </List.Item>
        ))}
      </List>
      {sending && t("editItRemoveTheAccountOr")}
    </Alert>
  );
}

/** Account by account: when it would go out, or why it would not. */
function Foreseen({ places, accounts, now }: { places: readonly Went[]; accounts: Account[]; now: Date }) {
  const told = places.filter((each, index) => places.findIndex((one) => one.account_id === each.account_id && one.at === each.at && one.outcome === each.outcome) === index);
  if (told.length === 0 || (told.length === 1 && told.every((each) => each.outcome !== "refused" && each.warnings.length === 0))) return null;
  return (
    <List size="sm" aria-label={t("accountsAndTimes")}>
      {told.map((each) => {
        const account = accounts.find(({ id }) => id === each.account_id);
        const zone = each.zone ?? account?.zone ?? "UTC";
        return (
          <List.Item key={`${each.account_id} ${each.channel}`}>
            {account?.handle ?? each.account_id}: {whenWords(each, zone, now)}
            {each.warnings.map((warning) => `; ${onClock(warning, zone)}`)}
          </List.Item>
        );
      })}
    </List>
  );
}

function whenWords(went: Went, zone: string, now: Date): string {
  if (went.outcome === "refused") return t("notPossibleSays", { message: went.message ?? t("reasonUnknown") });
  if (typeof went.at !== "string") return t("alreadySending");
  const at = `${placeTime(went.at, went.zone ?? zone)} (${fromNow(went.at, now)})`;
  return went.outcome === "already" ? t("alreadyScheduledAt", { at }) : at;
}

/** That it waits for an approval, and what it lacks for one. */
function Waits({ post, way }: { post: Schemas["PostSaved"]; way: Way }) {
  if (post.approved || way === "now") return null;
  const why = post.blockers.length > 0 ? post.blockers.map(blockerWords).join(" and ") : post.why_not_approved;
  return (
    <Alert color="yellow" p="xs" role="status">
      {why === null || why === undefined ? t("itNeedsApprovalBeforeItGoes") : t("itNeedsApprovalBecause", { why })}
    </Alert>
  );
}

function OtherWays(props: { way: Way; saved: boolean; slot: boolean; again: boolean; onChoose: (way: Way) => void }) {
  const ways: [Way, string][] = [
    ...(props.again ? ([["again", t("saveAndTryAgain")]] as [Way, string][]) : []),
    ...(props.slot ? ([["slot", t("useTheSlotYouChose")]] as [Way, string][]) : []),
    ["queue", t("addToQueue")],
    ["time", t("scheduleDots")],
    ["now", t("publishNow")],
    props.saved ? ["save", t("justSave")] : ["draft", t("saveAsDraft")],
  ];
  return (
    <Menu position="top-end">
      <Menu.Target>
        <Button px={8} h="auto" mih={36} aria-label={t("moreOptions")} style={{ flex: "none", borderInlineStart: "1px solid rgba(255,255,255,.4)" }}>
          <IconChevronDown size={18} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {ways
          .filter(([way]) => way !== props.way)
          .map(([way, name]) => (
            <Menu.Item key={way} onClick={() => props.onChoose(way)}>
              {name}
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const hasFailed = (post: Post): boolean => post.pills.some(({ state }) => state === "failed" || state === "missed");

function firstWay(post: Post | null, at: string | null): Way {
  if (post !== null && hasFailed(post)) return "again";
  if (post !== null) return post.pills.some(({ state }) => state !== "canceled") ? "save" : "queue";
  return at === null ? "queue" : "slot";
}

function zonesOf(accounts: Account[], content: Content, own: string): string[] {
  const chosen = content.places.map((place) => accounts.find(({ id }) => id === place.account_id)?.zone);
  return [...new Set([...chosen.filter((each) => each !== undefined), own])];
}
