"""All families of cases of composed operators."""

from tests.capability import (
    composed_cases,
    expert_cases,
    latent_cases,
    more_cases,
    product_cases,
    recurrent_cases,
    region_cases,
    scaled_cases,
    served_cases,
    sparse_cases,
)

FAMILIES = (
    composed_cases.FAMILIES
    | product_cases.FAMILIES
    | served_cases.FAMILIES
    | more_cases.FAMILIES
    | recurrent_cases.FAMILIES
    | region_cases.FAMILIES
    | sparse_cases.FAMILIES
    | expert_cases.FAMILIES
    | latent_cases.FAMILIES
    | scaled_cases.FAMILIES
)
CASES = {name: case for family in FAMILIES.values() for name, case in family.items()}
