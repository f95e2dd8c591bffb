//! The cache: one contract for all implementations, on real servers, and what each does when its server fails.

mod broken;
mod contract;
mod places;
pub(crate) mod redis;

/// Every law of the contract on one kind of cache.
macro_rules! on {
    ($($place:ident)+) => { $(
        mod $place {
            use super::{contract, places};

            #[tokio::test]
            async fn what_is_put_comes_back_whole() {
                contract::what_is_put_comes_back_whole(&places::$place().await).await;
            }

            #[tokio::test]
            async fn a_great_part_of_noise_comes_back_whole() {
                contract::a_great_part_of_noise_comes_back_whole(&places::$place().await).await;
            }

            #[tokio::test]
            async fn only_its_owner_finds_an_entry() {
                contract::only_its_owner_finds_an_entry(&places::$place().await).await;
            }

            #[tokio::test]
            async fn an_entry_lives_on_with_use_and_ends_all_the_same() {
                contract::an_entry_lives_on_with_use_and_ends_all_the_same(&places::$place().await).await;
            }

            #[tokio::test]
            async fn the_oldest_of_an_owner_goes() {
                contract::the_oldest_of_an_owner_goes(&places::$place().await).await;
            }

            #[tokio::test]
            async fn the_oldest_of_a_workspace_goes_for_room() {
                contract::the_oldest_of_a_workspace_goes_for_room(&places::$place().await).await;
            }

            #[tokio::test]
            async fn what_has_expired_takes_no_room() {
                contract::what_has_expired_takes_no_room(&places::$place().await).await;
            }

            #[tokio::test]
            async fn writers_at_one_time_keep_to_the_caps() {
                contract::writers_at_one_time_keep_to_the_caps(&places::$place().await).await;
            }

            #[tokio::test]
            async fn callers_at_one_time_get_exactly_the_places_there_are() {
                contract::callers_at_one_time_get_exactly_the_places_there_are(&places::$place().await).await;
            }

            #[tokio::test]
            async fn a_place_is_free_again_when_given_back_or_when_its_time_is_over() {
                contract::a_place_is_free_again_when_given_back_or_when_its_time_is_over(
                    &places::$place().await,
                )
                .await;
            }

            #[tokio::test]
            async fn the_wait_is_that_for_the_next_place() {
                contract::the_wait_is_that_for_the_next_place(&places::$place().await).await;
            }
        }
    )+ };
}

on!(memory postgres_14 postgres_18 pooled redis_alone redis_over_tls redis_cluster redis_cluster_over_tls valkey);
