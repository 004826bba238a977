//! Unused tags: when nothing of them is left.

use super::asked_servers::AskedServers;
use super::needs::Needs;
use super::settings::TagId;
use super::singles::Singles;

/// A tag that was forgotten goes, unless something is done for it: then this is called again at the end of that.
/// Returns whether it leaves a turn that it waited for.
pub(super) fn leave_if_unused(
    needs: &mut Needs,
    singles: Option<&mut Singles>,
    servers: Option<&mut AskedServers>,
    id: TagId,
) -> bool {
    let Some(tag) = needs.tags.get(&id).filter(|tag| tag.goes() && !tag.is_busy()) else { return false };
    if singles.is_some_and(|singles| !singles.forget(id)) {
        return false;
    }
    servers.into_iter().for_each(|servers| servers.forget(&tag.name));
    let leaves_turn = tag.place.is_some();
    needs.forget(id);
    leaves_turn
}
