// The steps to a campaign: who gets it, what, by which accounts and how fast; then the server's own checks and dry run.
// The last step saves a draft, because only what is saved can be tried; nothing is sent before it is confirmed.
import { Anchor, Button, Group, Stepper } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMediaQuery } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspace, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { UNFINISHED } from "../../ui/wallTimes";
import { formOf, inputOf, newForm, type CampaignForm } from "./form";
import { Review } from "./Review";
import { HowFields, WhatFields, WhoFields } from "./steps";
import { CAMPAIGN, type Campaign } from "./useCampaign";
import { t } from "../../messages/campaigns";

const STEP_OF: Record<string, number> = { name: 0, audience_id: 0, channel: 0, template_id: 1 };
const LAST = 3;

export function NewCampaign() {
  return <Wizard campaign={null} />;
}

export function Wizard({ campaign }: { campaign: Campaign | null }) {
  const workspace = useWorkspace();
  if (workspace.data === undefined) return <Loading />;
  return <Steps campaign={campaign} zone={workspace.data.zone} />;
}

function Steps({ campaign, zone }: { campaign: Campaign | null; zone: string }) {
  const workspace_id = useWorkspaceId();
  const go = useNavigate();
  const queries = useQueryClient();
  const narrow = useMediaQuery("(max-width: 48em)");
  const [step, setStep] = useState(campaign === null ? 0 : LAST);
  const form = useForm<CampaignForm>({
    initialValues: campaign === null ? newForm : formOf(campaign, zone),
    validate: (values) => faultsAt(step, values),
  });
  const send = (body: ReturnType<typeof inputOf>) =>
    campaign === null
      ? take(api.POST("/api/v1/workspaces/{workspace_id}/campaigns", { params: { path: { workspace_id } }, body }))
      : take(api.PUT(CAMPAIGN, { params: { path: { workspace_id, campaign_id: campaign.id } }, body }));
  const save = useAct("campaign", (values: CampaignForm) => send(inputOf(values, zone, campaign)), {
    after: (kept) => {
      queries.setQueryData([workspace_id, "campaign", kept.id], kept);
      form.resetDirty();
      setStep(LAST);
      void go(`/w/${workspace_id}/campaigns/${kept.id}`, { replace: true });
    },
    refused: (error) => {
      if (!(error instanceof Problem) || error.faults.length === 0) return;
      form.setErrors(error.fields);
      setStep(Math.min(...Object.keys(error.fields).map((field) => STEP_OF[field] ?? 2)));
    },
  });
  const on = () => {
    if (form.validate().hasErrors) return;
    if (step + 1 < LAST) setStep(step + 1);
    else if (campaign === null || form.isDirty()) save.mutate(form.values);
    else setStep(LAST);
  };
  return (
    <Page
      title={campaign?.name ?? t("newCampaign")}
      message={
        <Anchor component={Link} to={`/w/${workspace_id}/campaigns`} size="sm">
          {t("allCampaigns")}
        </Anchor>
      }
    >
      <Stepper active={step} size="sm" maw={900} orientation={narrow === true ? "vertical" : "horizontal"} onStepClick={(to) => to < step && setStep(to)}>
        <Stepper.Step label={t("who")}>
          <WhoFields form={form} />
        </Stepper.Step>
        <Stepper.Step label={t("message")}>
          <WhatFields form={form} />
        </Stepper.Step>
        <Stepper.Step label={t("accountsAndSpeed")}>
          <HowFields form={form} zone={zone} />
        </Stepper.Step>
        <Stepper.Step label={t("review")}>{campaign !== null && <Review campaign={campaign} zone={zone} onEdit={setStep} />}</Stepper.Step>
      </Stepper>
      {step < LAST && (
        <Group maw={900} justify="flex-end">
          {step > 0 && (
            <Button variant="default" onClick={() => setStep(step - 1)}>
              {t("back")}
            </Button>
          )}
          <Button loading={save.isPending} onClick={on}>
            {step + 1 < LAST ? t("next") : t("checkAndReview")}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** What keeps one from going on with the next step. */
function faultsAt(step: number, values: CampaignForm): Record<string, string | null> {
  return {
    name: step === 0 && values.name.trim() === "" ? t("enterAName") : null,
    audience_id: step === 0 && values.audience_id === null ? t("chooseAnAudience") : null,
    template_id: step === 1 && values.template_id === null ? t("chooseATemplate") : null,
    account_ids: step === 2 && values.account_ids.length === 0 ? t("chooseAnAccount") : null,
    start: step === 2 && values.start === UNFINISHED ? t("enterADateAndATime") : null,
  };
}
